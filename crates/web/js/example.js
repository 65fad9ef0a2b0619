/** A host in a dozen lines: a request goes in, an `ElicitResult` comes out. */
const element = /** @type {any} */ (document.querySelector("mcp-elicitation"));

const ask = () => (element.request = {
  message: "For which city?",
  requestedSchema: {
    type: "object",
    properties: { city: { type: "string", title: "City" }, unit: { type: "string", enum: ["C", "F"], default: "C" } },
    required: ["city"],
  },
});

document.querySelector("button")?.addEventListener("click", ask);
element.addEventListener("elicitation-answer", (/** @type {CustomEvent} */ { detail }) => {
  element.dismiss();
  Object.assign(/** @type {Element} */ (document.querySelector("pre")), { textContent: JSON.stringify(detail, null, 2) });
});
