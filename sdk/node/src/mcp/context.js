/** Customer context of a tool call: the tool's code requests it, and the result carries the action. */

import { ContextSlot, hasCustomer, keepSlot } from '../context/slot.js';
import { contract } from '../protocol.js';
import { roundDuration } from '../telemetry/event.js';
import { WarnOnce } from '../warn.js';

const PRIVACY_HEADER = contract.headers.privacySignal;
const warnings = new WarnOnce();

/**
 * Make a slot for the context request of a tool: `customerContext.ask(extra, …)`, with the `extra` of its handler.
 *
 * @param {import('../options.js').Options} options
 * @param {any} extra
 * @returns {ContextSlot | null} null without a company key
 */
export function openCall({ companyKey }, extra) {
  if (companyKey === null || typeof extra !== 'object' || extra === null) {
    return null;
  }
  const headers = extra.requestInfo?.headers ?? {};
  const header = (/** @type {string} */ name) => (name === PRIVACY_HEADER ? headers[name.toLowerCase()] : null);
  const slot = new ContextSlot({ method: '', path: '', mount: '', header }, companyKey);
  keepSlot(extra, slot);
  return slot;
}

/**
 * Resolve to the member `_service` with the action that the tool's code has requested, or to null.
 *
 * The operation of the interaction follows, once the service has accepted the name that the code has given.
 * @param {import('../context/index.js').CustomerContext} customerContext
 * @param {{interaction: import('../interaction.js').Interaction, slot: ContextSlot | null, references: Record<string, string>, statusCode: number, durationMs: number}} call
 */
export async function requestAction(customerContext, call) {
  const { interaction, slot, references, statusCode, durationMs } = call;
  const contextRequest = slot?.contextRequest ?? null;
  if (contextRequest === null) {
    return null;
  }
  if (!hasCustomer(contextRequest)) {
    warnings.warn('', 'a tool has requested context without a customer reference, which only HTTP can do');
    return null;
  }
  const operation = contextRequest.operation ?? interaction.operation;
  const content = await customerContext.requestEnrichment({
    ...contextRequest,
    operation,
    interactionId: interaction.id,
    surface: contract.mcp.surface,
    statusCode,
    durationMs: roundDuration(durationMs),
    sessionRef: references.sessionRef,
    runtimeHint: references.runtimeHint,
  });
  if (!content?.submit && !content?.consent) {
    return null;
  }
  interaction.operation = operation;
  return { [contract.members.customerContext]: content };
}
