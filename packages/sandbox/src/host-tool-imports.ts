import { GUEST_CLIENT_SPECIFIER } from "./guest-boot.ts";

/** Marks the address of a file whose own address leads to the module around it. */
const OWN_FILE = "?own-file";

/** Where the guest finds a server's module: `/workspace/servers/crm/index.ts`. */
export function hostToolModule(server: string): string {
  return `/workspace/servers/${server}/index.ts`;
}

/**
 * The module of a server whose tools run on the host and have no file, as an address for an import map. Where the server
 * has local tools too, it exports those of its file as well.
 *
 * @param ownFile address of the server's `index.ts`, if there is one.
 */
export function hostToolModuleUrl(server: string, tools: readonly string[], ownFile?: string): string {
  const lines = [
    `import { hostTool } from ${JSON.stringify(GUEST_CLIENT_SPECIFIER)};`,
    ...(ownFile === undefined ? [] : [`export * from ${JSON.stringify(ownFile + OWN_FILE)};`]),
    // Names stand in quotes, so that none can be anything but a name.
    ...tools.flatMap((tool, index) => [
      `const tool${index} = hostTool(${JSON.stringify(server)}, ${JSON.stringify(tool)});`,
      `export { tool${index} as ${JSON.stringify(tool)} };`,
    ]),
  ];
  return `data:text/javascript,${encodeURIComponent(lines.join("\n"))}`;
}
