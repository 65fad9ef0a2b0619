// A server that a test plays: it connects its standard streams to the socket in argv.
import { connect } from "node:net";

const test = connect(process.argv[2]);
test.on("error", () => process.exit()).pipe(process.stdout);
process.stdin.pipe(test);
process.stdout.on("error", () => process.exit());
