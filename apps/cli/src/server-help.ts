/** The text below the options in the help of the commands about MCP servers. */
export const SERVERS = `
All servers are tried at once. One that does not answer within 10 seconds is listed as "no answer".

Examples:
  cem servers
  cem servers --json`;

export const ADD = `
The server is written to config.yaml, whose comments are kept. Then its tools are written as files.
\${NAME} in a value is replaced from the environment or .env when the server is used, so secrets can stay there.

Examples:
  cem add everything -- npx -y @modelcontextprotocol/server-everything
  cem add memory --env MEMORY_FILE_PATH=m.json -- npx -y @modelcontextprotocol/server-memory
  cem add crm https://crm.example.com/mcp --header 'Authorization: Bearer \${CRM_TOKEN}'`;

export const REMOVE = `
Only files that were generated are removed.

Examples:
  cem remove everything`;

export const IMPORT = `
Looks into the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Codex, Gemini CLI and OpenCode,
shows the whole commands and what can't be taken over, and asks.
Values are copied as they stand there, secrets too. With --json nothing is added unless --yes is given.

Examples:
  cem import
  cem import github sentry --yes`;

export const GENERATE = `
When a tool's definition changed, the difference is shown and the tool can't be called until --accept. Files that
you wrote or edited are never changed.

A tool that states no return type has an unknown one. After --learn, runs record the types of results (names and
types, no values) in tools.observed.json beside the tools, and the next --learn writes them into the files.
Delete that file to stop it.

Examples:
  cem generate
  cem generate github --accept
  cem generate github --learn`;

export const AUTH = `
Opens the server's sign-in page and waits until you are signed in. Sign-ins are kept for your user alone.

Examples:
  cem auth github
  cem auth github --no-browser`;
