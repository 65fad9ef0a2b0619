/**
 * Where the demo's link leads: it stands for a page of the server, which knows nothing of the
 * person but the id in its address.
 */
import { h } from "../draw.js";
import { finished } from "./gateway.js";
import { say, speak } from "./words.js";

const id = location.hash.slice(1);
const told = h("div", { role: "status" });

await speak();
document.title = say("demo.elsewhere_title");
const button = h("button", { type: "button", class: "main", onclick: finish }, say("demo.elsewhere_done"));
document.body.append(h("main", { class: "elsewhere" },
  h("section", { class: "nothing" },
    h("span", { class: "picture key", "aria-hidden": "true" }),
    h("h1", {}, say("demo.elsewhere_title")),
    h("p", {}, say("demo.elsewhere")),
    button,
    told,
  ),
));

async function finish() {
  button.disabled = true;
  const waited = await finished(id).catch(() => false);
  button.remove();
  told.append(h("p", { class: "lead" }, say(waited ? "demo.elsewhere_finished" : "demo.elsewhere_gone")));
}
