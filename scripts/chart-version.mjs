// Gives the Helm chart and the image the version of the packages, after `changeset version`.
import { readFileSync, writeFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync("packages/code-execution-mcp/package.json", "utf8"));
for (const [file, places] of [
  ["apps/server/chart/Chart.yaml", /^(version: |appVersion: ")[\d.]+/gmu],
  ["apps/server/Dockerfile", /^(LABEL org\.opencontainers\.image\.version=")[\d.]+/gmu],
])
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(places, `$1${version}`));
