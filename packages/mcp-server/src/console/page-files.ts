import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
const NOT_BUILT =
  "The console's page is not there. Bundlers leave it out: keep @cem/mcp-server external. In a clone, npm start sets it up.\n";
/** Exists only in a clone; packages contain the built page. */
const BUILDER = new URL("../../scripts/page-build.ts", import.meta.url);

/** Serves the files of the page below `/console/`. The set of names is fixed at start, which rules out path traversal. */
export function createPage(): (request: Request) => Promise<Response> {
  let reading: Promise<ReadonlyMap<string, Buffer>> | undefined;
  return async ({ method, url }) => {
    const { pathname } = new URL(url);
    if (method !== "GET" && method !== "HEAD") return text(405, "Only GET is answered here.\n");
    // The page's links are relative, so that it works below any path of a proxy.
    if (pathname === "/console")
      return new Response(null, { status: 308, headers: { ...HEADERS, location: "./console/" } });
    const files = await (reading ??= ownPage());
    if (files.size === 0) return text(503, NOT_BUILT);
    const name = pathname.slice("/console/".length) || "index.html";
    const body = files.get(name);
    if (body === undefined) return text(404, "There is no such file.\n");
    const type = TYPES[path.extname(name)] ?? "application/octet-stream";
    const cache = name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable";
    return new Response(method === "HEAD" ? null : new Uint8Array(body), {
      headers: { ...HEADERS, "content-type": type, "cache-control": cache },
    });
  };
}

/** The page next to the built module; in a clone, built from its sources. */
async function ownPage(): Promise<ReadonlyMap<string, Buffer>> {
  if (!existsSync(BUILDER)) return readFiles(path.join(import.meta.dirname, "page"));
  const { bundlePage } = (await import(BUILDER.href)) as {
    bundlePage: () => Promise<ReadonlyMap<string, Buffer>>;
  };
  return bundlePage();
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(folder).catch(() => []);
  const known = names.filter((name) => path.extname(name) in TYPES);
  const read = known.map(async (name) => [name, await readFile(path.join(folder, name))] as const);
  return new Map(await Promise.all(read));
}

function text(status: number, words: string): Response {
  return new Response(words, {
    status,
    headers: { ...HEADERS, "content-type": "text/plain; charset=utf-8" },
  });
}
