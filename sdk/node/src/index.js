/** Ask the agents that use your product whether it worked. */

export { InvalidOption, ServiceError, ServiceRefused, ServiceUnavailable } from './errors.js';
