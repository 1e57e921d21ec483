/** The middleware for Express 4 and 5. */

import { instrument } from './http.js';
import { holdResponse } from './http_response.js';

/**
 * Return the middleware.
 * @param {import('../instrumentation.js').Instrumentation} instrumentation
 * @returns {(request: any, response: any, next: (error?: unknown) => void) => void}
 */
export function expressAdapter(instrumentation) {
  return function agentFeedback(request, response, next) {
    const details = {
      target: request.originalUrl ?? request.url,
      path: request.url,
      mount: request.baseUrl ?? '',
      // Express reads it from the headers of the proxies that `trust proxy` names.
      clientIp: () => request.ip,
      keep: (/** @type {import('../exchange.js').Exchange} */ exchange) => holdResponse(response, exchange),
    };
    if (!instrumentation.isActive || !instrument(instrumentation, request, response, details)) {
      next();
    }
  };
}
