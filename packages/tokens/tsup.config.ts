import { library } from "../../tsup.base.ts";

/** The tokenizer is bundled: of its 30 MB a count needs 2.4. A source map or escapes would add as much again. */
export default library({
  noExternal: ["gpt-tokenizer"],
  sourcemap: false,
  esbuildOptions: (options) => {
    options.charset = "utf8";
  },
});
