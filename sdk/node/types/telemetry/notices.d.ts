/** What a company hears of its telemetry: one warning of each kind, and each loss through `onDrop`. */
/** The warnings of one queue, and its `onDrop`. */
export declare class Notices {
    #private;
    /** @param {((reason: string, count: number) => unknown) | null | undefined} onDrop */
    constructor(onDrop: ((reason: string, count: number) => unknown) | null | undefined);
    /**
     * Tell the company of dropped events.
     *
     * @param {string} reason
     * @param {number} count
     * @param {{isWarned?: boolean}} [options] whether a warning has said it already
     */
    announceLoss(reason: string, count: number, { isWarned }?: {
        isWarned?: boolean;
    }): void;
    /**
     * Warn once of each kind.
     *
     * @param {string} kind
     * @param {string} reason
     */
    warn(kind: string, reason: string): void;
}
