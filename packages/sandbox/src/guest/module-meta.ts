import type { Inside } from "./inside/index.ts";

/**
 * Deno references the initializer of `import.meta` as long as the module lives. It must not reference the module
 * itself: neither it nor the realm would ever be freed. This function is at the top level because closures keep their
 * whole scope alive.
 */
export function metaOf(
  inside: Inside,
  url: string,
  values: Record<string, unknown> | undefined,
): (meta: Record<string, unknown>) => void {
  return (meta) => {
    if (values !== undefined) meta["values"] = values;
    meta["url"] = url;
    meta["main"] = false;
    if (url.startsWith("file:")) {
      const { pathname } = new URL(url);
      meta["filename"] = pathname;
      meta["dirname"] = pathname.slice(0, pathname.lastIndexOf("/"));
    }
    meta["resolve"] = inside.resolver(url);
  };
}
