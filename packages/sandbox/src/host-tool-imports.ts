import { GUEST_CLIENT_SPECIFIER } from "./guest-boot.ts";

/** Query that imports a server's own file where its plain URL is mapped to the generated module. */
const OWN_FILE = "?own-file";

/** A server's module in the guest: `/workspace/servers/crm/index.ts`. */
export function hostToolModule(server: string): string {
  return `/workspace/servers/${server}/index.ts`;
}

/**
 * A server's module for tools on the host that have no file, as a `data:` URL for an import map.
 *
 * @param ownFile - URL of the server's own `index.ts`, whose exports are re-exported.
 */
export function hostToolModuleUrl(server: string, tools: readonly string[], ownFile?: string): string {
  const lines = [
    `import { hostTool } from ${JSON.stringify(GUEST_CLIENT_SPECIFIER)};`,
    ...(ownFile === undefined ? [] : [`export * from ${JSON.stringify(ownFile + OWN_FILE)};`]),
    // Names are quoted, so that none can be parsed as code.
    ...tools.flatMap((tool, index) => [
      `const tool${index} = hostTool(${JSON.stringify(server)}, ${JSON.stringify(tool)});`,
      `export { tool${index} as ${JSON.stringify(tool)} };`,
    ]),
  ];
  return `data:text/javascript,${encodeURIComponent(lines.join("\n"))}`;
}
