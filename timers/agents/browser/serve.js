// Posts the last answer and receives the next question; either is empty if there is none yet.
(async () => {
  for (let body = '';;) {
    const question = await (await fetch('next', { method: 'POST', body })).text();
    body = question === '' ? '' : await globalThis.answer(question);
  }
})();
