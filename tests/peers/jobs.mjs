// What clients are told to do, and what is answered.

export const DELETE = "Delete 3 files?";
export const TABLE = "Which table?";
export const THIRTY = "Thirty things";
export const SIGN_IN = "Sign in";

export const BOOKED = { name: "Ana", guests: 4, table: "garden" };
export const LARGE = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field${n}`, `value ${n} “ü”`]));

const accept = (message, content) => ({ message, action: "accept", content });
const no = (action) => ({ message: DELETE, action });

/** Steps that a client answers by itself. `Model.plays` lets those end that have a name. */
export const STEPS = {
  accept: { tool: "form", answers: [accept(TABLE, BOOKED)] },
  decline: { tool: "confirm", answers: [no("decline")] },
  cancel: { tool: "confirm", answers: [no("cancel")] },
  large: { tool: "large", answers: [accept(THIRTY, LARGE)] },
  wizard: { tool: "wizard", answers: [1, 2, 3, 4, 5].map((step) => accept(`Step ${step}`, { value: `value ${step}` })) },
  both: { tool: "both", answers: [accept("Which day?", { day: "Monday" }), accept("Which town?", { town: "Olinda" })] },
  serverCancel: { tool: "impatient", arguments: { name: "question" } },
  link: { tool: "link", answers: [{ message: SIGN_IN, action: "accept" }] },
  progress: { tool: "steps", arguments: { steps: 2, name: "steps" } },
  invalid: { tool: "insist", answers: [accept(TABLE, { name: "Ana", guests: "secret" }), accept(TABLE, BOOKED)] },
};
