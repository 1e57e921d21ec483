/** The command `agent-feedback doctor`: a product seen from outside, as an agent sees it. */
export type Received = import('../agent/index.js').Received;
export type Visit = import('./product.js').Visit;
export type Finding = {
    /**
     * PASS, NEXT or FAIL
     */
    status: string;
    /**
     * what was looked at
     */
    check: string;
    /**
     * what was seen
     */
    message: string;
};
/**
 * @typedef {object} Finding
 * @property {string} status PASS, NEXT or FAIL
 * @property {string} check what was looked at
 * @property {string} message what was seen
 */
/** @type {import('./arguments.js').Command} */
export declare const DOCTOR: import('./arguments.js').Command;
