# That covering() covers.

test_that("covering() has every combination of any two, or any three, levels of different factors", {
  factors <- list(method = all_methods, use = all_uses, kind = 1:7, signed = c(TRUE, FALSE))
  for (strength in 2:3) {
    rows <- do.call(covering, c(factors, strength = strength))
    for (set in combn(names(factors), strength, simplify = FALSE)) {
      expect_identical(nrow(unique(rows[set])), as.integer(prod(lengths(factors[set]))))
    }
    expect_lt(nrow(rows), prod(lengths(factors)))
  }
  expect_identical(nrow(covering(a = 1:3)), 3L)
})
