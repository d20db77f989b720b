export { splitWords } from "./words.ts";
