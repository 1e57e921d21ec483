/** What an adapter says of a request, in every framework alike. */
export type Request = {
    /**
     * the framework's request, which callbacks are given
     */
    source: object;
    /**
     * further objects that stand for the request in the product's code
     */
    aliases: object[];
    method: string;
    /**
     * path and query of the request line
     */
    target: string;
    /**
     * the decoded path, with that under which the product is mounted
     */
    path: string;
    /**
     * the path under which the product is mounted, or an empty text
     */
    mount: string;
    header: (name: string) => string | null;
    clientIp: () => string | null | undefined;
};
/**
 * @typedef {object} Request
 * @property {object} source the framework's request, which callbacks are given
 * @property {object[]} aliases further objects that stand for the request in the product's code
 * @property {string} method
 * @property {string} target path and query of the request line
 * @property {string} path the decoded path, with that under which the product is mounted
 * @property {string} mount the path under which the product is mounted, or an empty text
 * @property {(name: string) => string | null} header
 * @property {() => string | null | undefined} clientIp
 */
/**
 * Return a request from the parts that an adapter knows.
 * @param {Omit<Request, 'path' | 'aliases' | 'mount'> & {aliases?: object[], mount?: string}} parts
 * @returns {Request}
 */
export declare function readRequest(parts: Omit<Request, 'path' | 'aliases' | 'mount'> & {
    aliases?: object[];
    mount?: string;
}): Request;
/**
 * Return the decoded path of a target.
 * @param {string} target
 * @returns {string}
 */
export declare function pathOf(target: string): string;
