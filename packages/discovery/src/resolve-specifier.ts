import path from "node:path";

/** Resolves a relative specifier to an absolute path; `undefined` for packages and URLs. */
export function resolveSpecifier(fromFile: string, specifier: string): string | undefined {
  return /^\.\.?\//.test(specifier) ? path.join(path.dirname(fromFile), specifier) : undefined;
}
