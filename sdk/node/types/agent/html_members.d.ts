/** Read the script elements that products insert into their pages. */
/**
 * Return the text of each script element with an id and this type, by its id; the first element of an id counts.
 *
 * What comes after markup that does not end is not read.
 * @param {string} html
 * @param {string} type
 * @returns {Map<string, string>}
 */
export declare function readScripts(html: string, type: string): Map<string, string>;
export type Markup = {
    name: string;
    attributes: Map<string, string>;
    /**
     * of the raw text
     */
    start: number;
    /**
     * where markup goes on; -1 where it does not
     */
    end: number;
};
