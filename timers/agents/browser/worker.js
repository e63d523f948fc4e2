importScripts('agent.js', 'serve.js');
