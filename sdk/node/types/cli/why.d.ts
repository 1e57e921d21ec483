/** Which rule passed a response over, as far as that can be seen from outside. */
export type Page = import('../agent/index.js').Page;
export type Reason = {
    /**
     * the name of its subject
     */
    rule: string;
    sentence: string;
};
/**
 * Return what keeps an envelope out of a response, in the order in which it is looked at.
 *
 * @param {Page} page
 * @returns {Reason[]}
 */
export declare function findReasons(page: Page): Reason[];
