/** The product with Express 4. */

import express from 'express4';
import { start } from './express_product.js';

start(express);
