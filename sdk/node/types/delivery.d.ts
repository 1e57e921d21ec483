/** The shapes in which a body carries the envelope and the context action; a new shape is a class of this file. */
export type Surface = import('./interaction.js').Surface;
/** @typedef {import('./interaction.js').Surface} Surface */
export declare const ENVELOPE: any;
export declare const SERVICE: any;
export type Shape = {
    /**
     * telemetry's name for an envelope in such a body
     */
    surface: Surface;
    /**
     * whether the header carries an envelope for which the body has no room
     */
    fallsBackToHeader: boolean;
    /**
     * tells whether a member can be added
     */
    hasRoom: (member: string) => boolean;
    /**
     * returns the body with members, whose values are JSON;
     * every other byte stays
     */
    add: (members: Record<string, string>) => Uint8Array;
};
/**
 * Return the shape of a body; null where it is invalid or ambiguous.
 * @param {'json' | 'html'} kind
 * @param {Uint8Array} body
 * @returns {Shape | null}
 */
export declare function readShape(kind: 'json' | 'html', body: Uint8Array): Shape | null;
