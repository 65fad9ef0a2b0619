// What a TypeScript client answers: what its steps have prepared, or what it is told while a question is open.

const prepared = [];
const open = [];

const fits = (message) => (answer) => (answer.message ?? message) === message;
const without = ({ message, ...answer }) => answer;

/** The answer to a question, as soon as there is one; none if the question is taken back before. */
export function answered(message, signal) {
  const found = prepared.findIndex(fits(message));
  if (found >= 0) return Promise.resolve(without(prepared.splice(found, 1)[0]));
  return new Promise((resolve) => {
    const question = { message, resolve };
    open.push(question);
    const takenBack = () => {
      if (open.includes(question)) open.splice(open.indexOf(question), 1);
      resolve();
    };
    if (signal.aborted) takenBack();
    else signal.addEventListener("abort", takenBack);
  });
}

/** Keeps answers to questions to come; those of the step before are forgotten, unless it may be open. */
export function prepare(answers, othersAreOpen) {
  if (!othersAreOpen) prepared.length = 0;
  prepared.push(...answers);
}

/** Answers an open question, or the next one that the answer fits. */
export function give(answer) {
  const found = open.findIndex(({ message }) => fits(message)(answer));
  if (found >= 0) open.splice(found, 1)[0].resolve(without(answer));
  else prepared.push(answer);
}
