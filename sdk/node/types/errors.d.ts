/** The errors of this package. */
/** An option has an unusable value; the message names the option and what it takes. */
export declare class InvalidOption extends TypeError {
    name: string;
}
/** A call to the service did not succeed. */
export declare class ServiceError extends Error {
    name: string;
}
/** No usable answer arrived: a network error, a time-out, an unreadable body, or calls are switched off. */
export declare class ServiceUnavailable extends ServiceError {
    name: string;
}
/** No connection could be opened, so the service has received nothing. */
export declare class ServiceUnreachable extends ServiceUnavailable {
    name: string;
}
/** The service answered with an error status. */
export declare class ServiceRefused extends ServiceError {
    status: number;
    body: unknown;
    /** The service's error code, or an empty text. */
    code: string;
    /** The service's own sentence. */
    sentence: string;
    /** One entry with `pointer`, `code` and `message` for each problem of the request's body. */
    errors: Record<string, unknown>[];
    name: string;
    /**
     * @param {number} status the HTTP status
     * @param {unknown} [body] the answer as JSON, or else the beginning of its text
     */
    constructor(status: number, body?: unknown);
}
