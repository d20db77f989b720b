import { library } from "../../tsup.base.ts";

export default library({
  // Bundled and tree-shaken: whole, the client takes 80 MB, of which 2 MB are needed. What is licensed without a file
  // of it stays outside.
  noExternal: [/^(?!@cem\/|stream-buffers$)/],
  treeshake: true,
  minify: true,
  sourcemap: false,
  // Parts of the client are CommonJS.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
});
