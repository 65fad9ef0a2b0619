/**
 * What comes in a response bit by bit: lines of JSON, and server-sent events (`EventSource`
 * cannot carry a bearer).
 */

/** @typedef {ReadableStream<BufferSource>} Body */

/**
 * @param {Body} body
 * @param {() => void} heard  called for every chunk, those without an event included
 * @returns {AsyncGenerator<{name: string, id: string, data: string}>}
 */
export async function* events(body, heard) {
  for await (const block of split(body, "\n\n", heard)) {
    const event = { name: "message", id: "", data: "" };
    for (const line of block.split("\n")) {
      const [, field, value] = /^(\w+): ?(.*)$/s.exec(line) ?? []; // A comment has no name.
      if (field === "event") event.name = value;
      if (field === "id") event.id = value;
      if (field === "data") event.data += value;
    }
    if (event.data) yield event;
  }
}

/** @param {Body} body @returns {AsyncGenerator<any>} */
export async function* lines(body) {
  for await (const line of split(body, "\n")) yield JSON.parse(line);
}

/** The pieces of a text, each as soon as its end is there. @param {Body} body @param {string} end @param {() => void} [heard] */
async function* split(body, end, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** What came of a piece whose end isn't there. No end is in it, so it isn't looked at again. @type {string[]} */
  let begun = [];
  let last = ""; // its last characters: an end may begin there
  try {
    for (let read; !(read = await reader.read()).done; ) {
      heard?.();
      const pieces = (last + read.value).split(end);
      const rest = /** @type {string} */ (pieces.pop());
      if (pieces.length) {
        pieces[0] = begun.join("") + pieces[0];
        begun = [];
      }
      const looked = Math.max(0, rest.length + 1 - end.length);
      begun.push(rest.slice(0, looked));
      last = rest.slice(looked);
      yield* pieces;
    }
  } finally {
    reader.cancel().catch(() => {}); // Whoever stops listening hangs up.
  }
}
