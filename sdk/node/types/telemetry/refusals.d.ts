/** What a refused batch says: which events it names, whether it is a quota, and how many events it has counted. */
export type HttpResponse = import("../http/client.js").HttpResponse;
/**
 * Return the name of the quota for which a batch was refused, or null; no retry changes such an answer.
 *
 * @param {HttpResponse} response
 * @returns {string | null}
 */
export declare function exceededQuota(response: HttpResponse): string | null;
/**
 * Return the indexes of the events that a 400 or 422 names by pointer.
 *
 * Empty where a problem is not about one event of the batch: the whole batch is refused then.
 *
 * @param {HttpResponse} response
 * @param {number} size of the batch
 * @returns {Set<number>}
 */
export declare function refusedIndexes(response: HttpResponse, size: number): Set<number>;
/**
 * Return how many refused events the service says that it has counted, at most `limit`; 0 where it says nothing.
 *
 * @param {HttpResponse} response
 * @param {number} limit
 */
export declare function countedEvents(response: HttpResponse, limit: number): number;
