/**
 * A question whose acceptance destroys something: the warning above it, and the verb on its button.
 *
 * The verb is one of ours, found in the server's words: whatever those say, the button says no less.
 */
import { notice } from "./notice.js";

/** @param {import("./draw.js").Voice} voice */
export function warning({ say }) {
  const box = notice(say("label.destructive"), true);
  box.id = "warning";
  return box;
}

/** The key of what a question is about to do, if its first words tell. @param {unknown} message */
export function verb(message) {
  const [, word] = FIRST.exec(String(message).slice(0, 200).toLowerCase()) ?? [];
  const found = word && Object.entries(VERBS).find(([, words]) => words.split(" ").includes(word));
  return found ? "verb." + found[0] : "action.approve";
}

const FIRST = /^\W*(?:(?:are you sure (?:that )?you want to|do you (?:really )?want to|should i|shall i|permanently|really|tem certeza (?:de )?que (?:deseja|quer)|voc[eê] (?:deseja|quer)|deseja|quer|devo|posso) (?:mesmo |realmente |permanently )?)?([\p{L}]+)/u;

/** @type {Record<string, string>} */
const VERBS = {
  delete: "delete destroy wipe purge drop excluir exclua deletar destruir",
  remove: "remove remover remova",
  erase: "erase apagar apague",
  overwrite: "overwrite sobrescrever sobrescreva",
  replace: "replace substituir substitua",
  reset: "reset redefinir redefina",
  discard: "discard descartar descarte",
  clear: "clear limpar limpe",
  uninstall: "uninstall desinstalar desinstale",
  revoke: "revoke revogar revogue",
};
