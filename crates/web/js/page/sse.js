/**
 * Server-sent events out of a response's body: `EventSource` cannot carry a bearer.
 */

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} heard  called for every chunk, those without an event included
 * @returns {AsyncGenerator<{name: string, id: string, data: string}>}
 */
export async function* events(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let read; !(read = await reader.read()).done; ) {
      heard();
      const blocks = (rest + read.value).split("\n\n");
      rest = /** @type {string} */ (blocks.pop());
      for (const block of blocks) {
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
  } finally {
    reader.cancel().catch(() => {});
  }
}
