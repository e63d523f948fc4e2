// Posts the last answer and gets the next question; nothing where there is none yet.
(async () => {
  for (let body = '';;) {
    const question = await (await fetch('next', { method: 'POST', body })).text();
    body = question === '' ? '' : await globalThis.answer(question);
  }
})();
