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
  let rest = "";
  try {
    for (let read; !(read = await reader.read()).done; ) {
      heard?.();
      const pieces = (rest + read.value).split(end);
      rest = /** @type {string} */ (pieces.pop());
      yield* pieces;
    }
  } finally {
    reader.cancel().catch(() => {}); // Whoever stops listening hangs up.
  }
}
