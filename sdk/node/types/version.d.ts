/** The version of this package. */
export declare const VERSION: string;
/** The User-Agent of every request to the service. */
export declare const USER_AGENT: string;
