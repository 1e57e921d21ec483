/** Customer context of a tool call: the tool's code requests it, and the result carries the action. */
import { ContextSlot } from '../context/slot.js';
import { contract } from '../protocol.js';
/**
 * Make a slot for the context request of a tool: `customerContext.ask(extra, …)`, with the `extra` of its handler.
 *
 * @param {import('../options.js').Options} options
 * @param {any} extra
 * @returns {ContextSlot | null} null without a company key
 */
export declare function openCall({ companyKey }: import('../options.js').Options, extra: any): ContextSlot | null;
/**
 * Resolve to the member `_service` with the action that the tool's code has requested, or to null.
 *
 * The operation of the interaction follows, once the service has accepted the name that the code has given.
 * @param {import('../context/index.js').CustomerContext} customerContext
 * @param {{interaction: import('../interaction.js').Interaction, slot: ContextSlot | null, references: Record<string, string>, statusCode: number, durationMs: number}} call
 */
export declare function requestAction(customerContext: import('../context/index.js').CustomerContext, call: {
    interaction: import('../interaction.js').Interaction;
    slot: ContextSlot | null;
    references: Record<string, string>;
    statusCode: number;
    durationMs: number;
}): Promise<{
    [contract.members.customerContext]: import("../context/client.js").JsonObject;
} | null>;
