export declare function findSmallPackages(root: string): string[];
