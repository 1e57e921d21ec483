/** A product in TypeScript: what its compiler has to accept of this package, and what not. */

import { AgentFeedback, InvalidOption, type Envelope, type OptionSettings } from 'agent-feedback';
import { fromResponse, type Received } from 'agent-feedback/agent';
import { wrapServer } from 'agent-feedback/mcp';

const settings: OptionSettings = { mode: 'ask_once', customerRef: (request) => request.headers['x-account'] ?? null };
const feedback: AgentFeedback = new AgentFeedback(settings);
const envelope: Envelope | null = feedback.start('checkout', { customerRef: 'account_42' }).envelope();
const middleware: (request: object, response: object, next: () => void) => void = feedback.express();
const handler: (request: Request, env: { name: string }) => Promise<Response> = feedback.fetch(
  (request: Request, env: { name: string }) => new Response(env.name + request.url),
);
const lost: Promise<number> = feedback.shutdown({ timeout: 1000 });
const received: Promise<Received | null> = fromResponse({ id: '42' }, { allowedOrigins: [] });
export { InvalidOption, envelope, handler, lost, middleware, received, wrapServer };
// @ts-expect-error -- there is no such mode
new AgentFeedback({ mode: 'always' });
// @ts-expect-error -- a note is text
(await received)?.submitOutcome('success', 1);
// @ts-expect-error -- there is nothing to wrap
wrapServer();
