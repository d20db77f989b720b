import { createFolderStore } from "@cem/store";
import { createRunRecords } from "../src/records/run-records.ts";
import { record } from "./run-record.ts";

// Writes records until it is killed, and tells how many are written.

const [, , folder = "", name = ""] = process.argv;
const records = createRunRecords({
  open: async () => createFolderStore({ folder, durability: "process" }),
  bounds: { count: 1_000_000, bytes: 1_000_000_000, ageMs: 86_400_000 },
});
const input = "x".repeat(2_000);
for (let count = 0; ; count += 10) {
  process.stdout.write(`${count}\n`);
  for (let at = count; at < count + 10; at += 1) records.add(async () => record(`${name}-${at}`, { input }));
  await records.flush();
}
