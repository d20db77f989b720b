/** The name of the tool that runs code, where a framework takes it from the tool. */
export const EXECUTE_CODE = "execute_code";
/** The name of the tool that searches for tools. */
export const SEARCH_TOOLS = "search_tools";

export const CODE_DESCRIPTION = "The program, in TypeScript.";
export const QUERY_DESCRIPTION = "What the tool should do, in words.";
export const SEARCH_DESCRIPTION =
  "Find tools by what they do. The answer has their signatures, to be used in code for execute_code.";
