// Every ask of `midcall-server`, as its example `every_ask` has them: what each client is told, what
// is answered, and what the tool gets. A client that is told otherwise has a column for it.

export const JUNE = "2025-06-18";
const NOVEMBER = "2025-11-25";
export const JULY = "2026-07-28";

/** Words that JSON Schema has and MCP has not. Legacy clients are sent them all the same: see below who hears them. */
export const BEYOND = ["pattern", "multipleOf", "examples"];

/**
 * The clients, and what gets lost on the way to their application: the SDKs of TypeScript (since 1.x has the
 * words of 2025-11-25) and Rust read forms into types of their own, which have no `BEYOND`. So people read such
 * rules in the description, too. Behind midcall, a client of 2025-06-18 is told in the words of its revision alone.
 */
export const CLIENTS = {
  "sdk-1.20": { revision: JUNE, loses: { directly: [], "behind midcall": ["pattern", "multipleOf"] } },
  "sdk-1": { revision: NOVEMBER, loses: BEYOND },
  python: { revision: NOVEMBER, loses: [] },
  rmcp: { revision: NOVEMBER, loses: BEYOND },
  "sdk-2": { revision: JULY, loses: BEYOND },
  "python-modern": { revision: JULY, loses: BEYOND },
  "rmcp-modern": { revision: JULY, loses: BEYOND },
};

/** A question for one value: its field has the question's own words for a title. */
const one = (message, name, field, value, others = {}) => ({
  message,
  told: { [name]: { title: message, ...field } },
  answer: { [name]: value },
  ...others,
});
const confirm = (message, confirmed, others) => one(message, "confirmed", { type: "boolean" }, confirmed, others);
const text = (message, field, value, others) => one(message, "value", { type: "string", ...field }, value, others);
const select = (message, field, value, others) => one(message, "selected", { type: "string", ...field }, value, others);

const titled = (options, names) => names.map((title, place) => ({ const: options[place], title }));
const NUMBER_OF_LILIES = "How many lilies?";
const VOUCHER = "Which voucher do you have?";
const CODE = { type: "string", minLength: 4, maxLength: 8, pattern: "^[A-Z0-9]+$", examples: ["MAY2026"] };
const CARD = "What goes on the card?";
const LINES = { type: "string", title: CARD, format: "textarea" };
const DAYS = titled(["mon", "tue", "sat"], ["Monday", "Tuesday", "Saturday"]);
const VASES = [
  { const: "glass", title: "Glass", description: "Breaks" },
  { const: "clay", title: "Clay", description: "Weighs 3 kg" },
];

const NAME = { type: "string", description: "Who gets the flowers", minLength: 1, maxLength: 40 };
const ROSES = { type: "integer", minimum: 1, maximum: 99 };
const NOTES = { type: "string", description: "Anything we should know" };
const FLOOR = { type: "integer", description: "For the courier", minimum: -128, maximum: 127 };
const EXTRAS = { type: "array", items: { anyOf: titled(["ribbon", "card"], ["With a ribbon", "With a card"]) } };
/** A group is told as fields with longer names, in every revision. */
const ADDRESS = {
  "address.city": { type: "string", title: "address: city", description: "Where they live" },
  "address.floor": { ...FLOOR, title: "address: floor" },
};
const ORDERED = { name: "Ana", roses: 12, notes: "Ring twice" };

/**
 * A row: the tool and its arguments, its questions in turn, and what it got.
 *
 * Each question has a message, the fields that are told, which of them are required (all, unless said), and
 * the answer. `june` is the same for a client of 2025-06-18, `page` for the page, and `model` for a model, which
 * sees the form as it is. `refuses` is why no model is told to ask.
 */
export const ASKS = [
  {
    tool: "form",
    questions: [
      {
        message: "What may we bring?",
        told: { name: NAME, ...ADDRESS, roses: ROSES, extras: EXTRAS, notes: NOTES },
        required: ["name", "address.city", "roses", "extras"],
        answer: { ...ORDERED, "address.city": "Lisbon", extras: ["card"] },
        june: {
          told: {
            name: NAME,
            ...ADDRESS,
            roses: ROSES,
            "extras.ribbon": { type: "boolean", title: "extras: With a ribbon", default: false },
            "extras.card": { type: "boolean", title: "extras: With a card", default: false },
            notes: NOTES,
          },
          required: ["name", "address.city", "roses"],
          answer: { ...ORDERED, "address.city": "Lisbon", "extras.card": true },
        },
        model: {
          told: {
            name: NAME,
            address: { type: "object", description: "Where they live", properties: { city: { type: "string" }, floor: FLOOR }, required: ["city"] },
            roses: ROSES,
            extras: EXTRAS,
            notes: NOTES,
          },
          required: ["name", "address", "roses", "extras"],
          answer: { ...ORDERED, address: { city: "Lisbon" }, extras: ["card"] },
        },
      },
    ],
    got: { name: "Ana", address: { city: "Lisbon", floor: null }, roses: 12, extras: ["card"], notes: "Ring twice" },
  },
  {
    tool: "text",
    questions: [
      one(VOUCHER, "value", { ...CODE, description: "Must match ^[A-Z0-9]+$" }, "MAY2026", { model: { told: { value: { title: VOUCHER, ...CODE } } } }),
    ],
    got: "MAY2026",
  },
  // MCP has no word for several lines: they are told beside the form, to whoever knows of it.
  {
    tool: "lines",
    questions: [text(CARD, {}, "Dear Rui,\nall the best", { page: { told: { value: LINES } }, model: { told: { value: LINES } } })],
    got: "Dear Rui,\nall the best",
  },
  { tool: "confirm", questions: [confirm("Is it a present?", true)], got: true },
  { tool: "confirm", questions: [confirm("Is it a present?", false)], got: false },
  { tool: "confirm", questions: [confirm("Is it a present?", undefined, { action: "decline" })], says: "They said no" },
  { tool: "confirm", questions: [confirm("Is it a present?", undefined, { action: "cancel" })], says: "They put it away" },
  {
    tool: "dangerous",
    refuses: "the client does not ask, and a model must not agree to a question that is marked as dangerous",
    questions: [confirm("Cancel all your orders?", true)],
    got: true,
  },
  { tool: "select", questions: [select("Which colour?", { enum: ["red", "white"] }, "white")], got: "white" },
  {
    tool: "select_titled",
    questions: [
      select("Which size?", { oneOf: titled(["s", "l"], ["A small bunch", "An armful"]) }, "l", {
        june: { told: { selected: { type: "string", title: "Which size?", enum: ["s", "l"], enumNames: ["A small bunch", "An armful"] } } },
      }),
    ],
    got: "l",
  },
  // What explains an option goes into its title: MCP has no other place for it.
  {
    tool: "select_described",
    questions: [
      select("Which vase?", { oneOf: titled(["glass", "clay"], ["Glass: Breaks", "Clay: Weighs 3 kg"]) }, "clay", {
        june: { told: { selected: { type: "string", title: "Which vase?", enum: ["glass", "clay"], enumNames: ["Glass: Breaks", "Clay: Weighs 3 kg"] } } },
        model: { told: { selected: { type: "string", title: "Which vase?", oneOf: VASES } } },
      }),
    ],
    got: "clay",
  },
  { tool: "select_found", given: { flowers: ["iris", "aster"] }, questions: [select("Which flower?", { enum: ["iris", "aster"] }, "iris")], got: "iris" },
  {
    tool: "select_many",
    questions: [
      one("On which days?", "selected", { type: "array", minItems: 1, maxItems: 2, items: { anyOf: DAYS } }, ["mon", "sat"], {
        june: {
          told: {
            "selected.mon": { type: "boolean", title: "On which days?: Monday", default: false, description: "Give at least 1 item. Give at most 2 items" },
            "selected.tue": { type: "boolean", title: "On which days?: Tuesday", default: false },
            "selected.sat": { type: "boolean", title: "On which days?: Saturday", default: false },
          },
          required: [],
          answer: { "selected.mon": true, "selected.tue": false, "selected.sat": true },
        },
      }),
    ],
    got: ["mon", "sat"],
  },
  {
    tool: "number",
    questions: [
      one("How much may it cost?", "value", { type: "number", minimum: 5, maximum: 99.5, multipleOf: 0.5, description: "Enter a multiple of 0.5" }, 7.5, {
        model: { told: { value: { type: "number", title: "How much may it cost?", minimum: 5, maximum: 99.5, multipleOf: 0.5 } } },
      }),
    ],
    got: 7.5,
  },
  { tool: "integer", questions: [one("How many tulips?", "value", { type: "integer", minimum: 1, maximum: 50 }, 3)], got: 3 },
  { tool: "date", questions: [text("On which day?", { format: "date" }, "2026-12-24")], got: "2026-12-24" },
  { tool: "date_time", questions: [text("At what time?", { format: "date-time" }, "2026-12-24T09:30:00Z")], got: "2026-12-24T09:30:00Z" },
  { tool: "email", questions: [text("Where does the bill go?", { format: "email" }, "ana@example.com")], got: "ana@example.com" },
  {
    tool: "tags",
    questions: [
      text("What must not be in it?", { description: "Use at least 1 character. Give at most 3 items. Separate several with commas" }, "lilies, thorns", {
        model: {
          told: { value: { type: "array", title: "What must not be in it?", maxItems: 3, items: { type: "string", minLength: 1 } } },
          answer: { value: ["lilies", "thorns"] },
        },
      }),
    ],
    got: ["lilies", "thorns"],
  },
  { tool: "together", questions: [text("From whom?", { minLength: 1 }, "Rui"), confirm("May we call you?", false)], got: ["Rui", false] },
  {
    tool: "default",
    questions: [
      text("Which shop?", { default: "Lisbon" }, "Porto", {
        // It has defaults for switches alone, so it is left empty instead.
        june: { told: { value: { type: "string", title: "Which shop?", description: "If left empty: Lisbon" } }, required: [], answer: {} },
        model: { answer: { value: "Porto" } },
      }),
    ],
    got: "Porto",
    june: { got: "Lisbon" },
  },
  {
    tool: "must",
    questions: [
      one(NUMBER_OF_LILIES, "value", { type: "integer" }, 4),
      { ...one(NUMBER_OF_LILIES, "value", { type: "integer" }, 5), message: `The last answer did not fit. An even number is for funerals\n\n${NUMBER_OF_LILIES}` },
    ],
    got: 5,
  },
  { tool: "because", questions: [{ ...confirm("Take peonies instead?", true), message: "Take peonies instead?\n\nThe roses are sold out" }], got: true },
  { tool: "prefilled", questions: [], got: "EUR" },
];
