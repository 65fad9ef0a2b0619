// Where a TypeScript server's calls wait for each other, by name.

const gates = new Map();

function known(name) {
  if (!gates.has(name)) gates.set(name, Promise.withResolvers());
  return gates.get(name);
}

/** Waits until the gate of that name is open. */
export const gate = (name) => known(name).promise;

gate.opens = (name) => known(name).resolve();
