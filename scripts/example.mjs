// npm run example <file>: sets up what is missing, then runs an example from the sources.
import { fail, runSource } from "./run-source.mjs";

const given = process.argv.slice(2);
if (given.length === 0) fail("Say which: npm run example examples/00-simple-api.ts");
else await runSource(given);
