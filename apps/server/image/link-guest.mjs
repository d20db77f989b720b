// Links what a guest in a pod starts with to where the server has it: node link-guest.mjs /server /cem
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

const [, , server = "", target = ""] = process.argv;
const store = path.join(server, "node_modules/.pnpm");
const entries = readdirSync(store);

function place(prefix, inside) {
  const entry = entries.find((name) => name.startsWith(prefix));
  if (entry === undefined) throw new Error(`${store} has no ${prefix}.`);
  return path.join(store, entry, "node_modules", inside);
}

mkdirSync(target, { recursive: true });
const link = (to, name) => symlinkSync(path.relative(target, to), path.join(target, name));
link(place("@deno+linux-", `@deno/linux-${process.arch}-glibc/deno`), "deno");
link(place("@cem+sandbox@", "@cem/sandbox/dist/guest"), "guest");
