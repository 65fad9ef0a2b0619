// AJV as a peer. In, a line each: {job, schema, content, times}, the two texts as JSON strings.
// Out, a line each: {ns, valid}, measured here, so that the pipe costs nothing.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.env.MIDCALL_NODE); // the packages lie beside it
const Ajv = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;
const ajv = addFormats(new Ajv({ allErrors: true, strict: false })); // every problem is told, as ours does

const jobs = {
  oneShot: (schema, content) => () => {
    const parsed = JSON.parse(schema);
    const valid = ajv.compile(parsed)(JSON.parse(content));
    ajv.removeSchema(parsed); // or the instance would keep every schema it ever saw
    return valid;
  },
  check: (schema, content) => {
    const validate = ajv.compile(JSON.parse(schema));
    const values = JSON.parse(content);
    return () => validate(values);
  },
};

const prepared = new Map(); // a job keeps its compiled, optimised code from turn to turn

for await (const line of createInterface({ input: process.stdin })) {
  const { job, schema, content, times } = JSON.parse(line);
  const key = [job, schema, content].join("\n");
  if (!prepared.has(key)) prepared.set(key, jobs[job](schema, content));
  const work = prepared.get(key);
  let valid = true;
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) valid = work() && valid;
  const ns = Number(process.hrtime.bigint() - start);
  console.log(JSON.stringify({ ns, valid }));
}
