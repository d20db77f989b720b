// Takes from a deployed folder what the server does not load: packages that are there only as optional peers of others,
// such as test runners, and source maps, sources and types. Run in the build of the image: node prune.mjs /server
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";

const [, , folder = "."] = process.argv;
const store = path.join(realpathSync(folder), "node_modules/.pnpm");
const needed = new Set();
/** Optional peers that settings ask for. */
const WANTED = ["openai"];
/** The type checker reads the types of the language, and ours where they are files. */
const KEEPS_TYPES = /(?:^|\/)(?:@typescript|typescript|@deno|@cem)(?:\+|@|\/)/;

/** A package as Node finds it from a folder; undefined where it is not installed. */
function findPackage(name, from) {
  for (let at = from; ; at = path.dirname(at)) {
    const found = path.join(at, "node_modules", name);
    if (existsSync(path.join(found, "package.json"))) return realpathSync(found);
    if (at === path.dirname(at)) return undefined;
  }
}

function visit(place) {
  if (needed.has(place)) return;
  needed.add(place);
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(path.join(place, "package.json"), "utf8"),
  );
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    const found = findPackage(name, place);
    if (found !== undefined) visit(found);
  }
}

visit(realpathSync(folder));
for (const place of needed) {
  for (const name of WANTED) {
    const found = findPackage(name, place);
    if (found !== undefined) visit(found);
  }
}
/** `.pnpm/<name and version>` of a package's place. */
const kept = new Set([...needed].map((place) => path.relative(store, place).split(path.sep)[0]));
for (const entry of readdirSync(store)) {
  if (entry !== "node_modules" && entry !== "lock.yaml" && !kept.has(entry))
    rmSync(path.join(store, entry), { recursive: true });
}
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  const isUnused =
    /\.(?:[cm]?[jt]s\.map|md)$/.test(file) || (/\.[cm]?ts$/.test(file) && !KEEPS_TYPES.test(file));
  if (isUnused && !/licen[cs]e|copying|notice/i.test(path.basename(file)))
    rmSync(path.join(folder, file), { force: true });
}
