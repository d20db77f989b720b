export function findToolTests(folder: string): string[];
