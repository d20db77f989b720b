// Kills runs at random moments: `npm run test:workflows-kill`, or with a number of kills.
import { killRuns } from "../test/kill-runs.ts";

const DEFAULT_KILLS = 200;
const report = await killRuns(Number(process.argv[2] ?? DEFAULT_KILLS));
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.wrong.length === 0 ? 0 : 1;
