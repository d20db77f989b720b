import { library } from "../../tsup.base.ts";

export default library({
  // Bundled and tree-shaken: whole, the client takes 80 MB, of which 2 MB are needed.
  noExternal: [/^(?!@cem\/)/],
  treeshake: true,
  // Parts of the client are CommonJS.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
});
