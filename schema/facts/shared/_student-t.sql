-- _student-t: What Student's t of noise alone stays below in size in 95 of 100 cases.
-- grain: one value
-- key: none
-- scalar: the interval of a difference
-- params:
--   freedom BIGINT: degrees of freedom, from 1
-- columns:
--   t: the quantile; NULL for fewer degrees

-- From ten on by the expansion of Cornish and Fisher around that of the normal distribution (Abramowitz and Stegun, 26.7.5).
CASE
    WHEN freedom BETWEEN 1 AND 9
        THEN [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157][freedom]
    WHEN freedom > 9
        THEN 1.959964 + 2.372271 / freedom + 2.822499 / freedom ** 2 + 2.555850 / freedom ** 3 + 1.589534 / freedom ** 4
END
