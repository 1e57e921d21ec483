/** A product and its service at once, for tests of the agent's side. */

import { buildEnvelope } from '../src/envelope.js';
import { contract } from '../src/protocol.js';
import { mint } from '../src/capability.js';
import { ProductKey } from '../src/keys.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { startService } from './service.js';

export const NOTE = 'All of it was as promised.';

/** Return an envelope whose actions lead to an endpoint. */
export function envelopeOf(endpoint, name = 'never_ask') {
  const { mode, hasCustomer = false, decision = 'unknown' } = contract.states[name].applies;
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims = { interactionId: '018f4df7-3e00-4abc-9def-0123456789ab', issuedAt, nonce: new Uint8Array(18) };
  const capability = mint(new ProductKey(PRODUCT_KEY), claims);
  const facts = { endpoint, capability, expiresAt: issuedAt + 7200, mode, hasCustomer, decision };
  return buildEnvelope({ ...facts, serviceName: 'Agent Feedback' });
}

/** Return an answer of an introspection in a state. */
export function introspection(state, members = {}) {
  const canonicalQuestion = state === 'consent_required' ? 'May I?' : null;
  return {
    body: { state, configuredMode: 'never_ask', productName: 'Shop', canonicalQuestion, submit: null, ...members },
  };
}

/**
 * Start a product at `/page` that is its own service, whose other answers are by path.
 *
 * `page` gets the endpoint and returns the answer of the product.
 */
export async function startProduct(context, page, answers = {}) {
  let endpoint = '';
  const service = await startService(context, (request) => {
    const [path] = request.path.split('?');
    if (path === '/page') {
      return page(endpoint, request);
    }
    const name = Object.keys(answers).find((known) => path === contract.paths[known]);
    const answer = name ? answers[name] : answers.other;
    return answer ? answer(request) : { body: { accepted: true, interactionId: 'i1' } };
  });
  endpoint = service.url;
  const calls = () => service.requests.filter(({ path }) => !path.startsWith('/page'));
  return { ...service, page: `${service.url}/page`, calls };
}

/** Return a page of a product that answers with an envelope in JSON. */
export function inJson(name, members = {}) {
  return (endpoint) => ({
    headers: { 'Cache-Control': 'private, no-store' },
    body: { orders: [], [contract.members.envelope]: { ...envelopeOf(endpoint, name), ...members } },
  });
}
