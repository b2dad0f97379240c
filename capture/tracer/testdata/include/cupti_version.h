#pragma once
#define CUPTI_API_VERSION 26
