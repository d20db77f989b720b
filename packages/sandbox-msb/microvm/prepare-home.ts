import { prepareMachines } from "@cem/sandbox-msb";
import { readFileSync } from "node:fs";

const settings = JSON.parse(readFileSync(new URL("./settings.json", import.meta.url), "utf8")) as {
  home: string;
  denoPath: string;
};
await prepareMachines(settings);
