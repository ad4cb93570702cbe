# What goes with what: each row has features that no call may have together, and the sentence that the user reads.
#
# A feature is an argument that is given, as `lag`; a string that it has, as `df = "bartlett"`; the function's name; or
# a fact about the call, its method and its data, see facts_of(). "k|fdr": one of them; "no k": without it; "a & b or
# c & d": either of these. The first row that applies makes the error; words in braces are filled in, {this} is the one
# of several that is given, or the first feature. All other combinations are allowed, and tested
# (tests/testthat/test-together.R).
APART <- c(
  # ---- lags
  'lag & test|output = "list"' = "'lag' takes the largest of several coefficients, and no tests",
  "min_overlap & no lag" = "'min_overlap' is for 'lag'; give both, or leave it out",
  "lag|adjust & shards" = "{this} is not for 'shards'; leave one out",
  'lag|lioness|adjust|test|output = "list"|maps = "eigenvector" & plan or combine = "icc2"|combine = "icc3" & plan' =
    "{this} cannot be in a plan; call the function on one machine",
  "given coefficients & plan" = "method = \"given\" cannot be in a plan; call the function on one machine",
  "lag & resample|lioness|normalize" = "'lag' does not go with {this}; leave one out",
  "lag|resample|normalize & file" = "{this} makes a network in memory; leave out 'file'",
  "lag & p.value|fdr" =
    "{this} is of one coefficient, and 'lag' takes the largest of several; use 'threshold' or 'density'",
  "lag & several values" = "'{criterion}' must be one number with 'lag'; call once for each",
  "lag & several subjects" = "'lag' is for one subject's series, and 'x' is a list of subjects; call once for each",
  "lag & partial" = "'lag' has no meaning with partial = TRUE; leave one out",
  'lag & graded weights|weights_are = "frequency"' =
    "'lag' pairs different rows, for which 'weights' other than 0 and 1 have no meaning; leave one out",
  # ---- single samples and resamples
  "lioness & normalize|resample" = "'lioness' is without {this}; leave one of them out",
  "lioness & p.value|fdr & no several samples" =
    "'lioness' of one sample has no p values; give 'threshold', 'density' or 'k', or several samples",
  'several samples & file|output = "edges"|adjust' =
    "'lioness' of several samples makes a matrix of their values; leave {this} out",
  "lioness & several subjects" = "'lioness' is for one data set; leave out lists of subjects",
  "lioness & graded weights" = "'lioness' counts samples, and 'weights' must be 0 or 1; leave one out",
  'lioness & use = "pairwise.complete.obs"' =
    "'lioness' needs the same samples for all pairs; use = \"complete.obs\" leaves these",
  "fraction & no resample & gpuCorNetwork" = "'fraction' has a meaning with 'resample' only; leave it out",
  "fraction & no stability & gpuModules" = "'fraction' has a meaning with 'stability' only; leave it out",
  "resample & numeric df" =
    "'df' is of all observations, and a resample has fewer; leave it out with 'resample'",
  "resample & several subjects & plan" =
    "'resample' of a list of subjects cannot be in a plan; call the function on one machine",
  # ---- series
  "measure of spectra & lag|lioness|resample" =
    "method = \"{method}\" needs whole series, of which {this} takes parts; leave it out, or use another method",
  # ---- context likelihood
  "normalize & p.value|fdr" = "normalize = \"clr\" has no p values; give 'threshold', 'density' or 'k'",
  "normalize & pairs|several subjects" =
    "normalize = \"clr\" compares a pair with all pairs of both columns; leave out 'pairs' and lists of subjects",
  "normalize & one-sided measure" = paste0(
    "normalize = \"clr\" takes coefficients that stand for information, not squared distance correlations; use ",
    "method = \"mi\" or \"spearman\""),
  "normalize & measure of spectra|measure of agreement" = paste0(
    "normalize = \"clr\" takes coefficients that stand for information, which those of method = \"{method}\" do not; ",
    "use \"mi\" or \"spearman\""),
  'normalize & sign = "positive"|sign = "negative"' =
    "normalize = \"clr\": information has no sign; leave out 'sign'",
  # ---- edges and files
  "mutual & no k" = "'mutual' is TRUE, which has a meaning with 'k' only; leave it out",
  "several values & file" =
    "'{criterion}' has {values} values, and 'file' takes one network; call gpuCorNetwork() for each of them",
  'threshold|density|k & gpuTOM & no output = "network"' =
    "{this} has a meaning with output = \"network\" only; give that, or leave {this} out",
  'output = "network" & gpuTOM & no edges' =
    "output = \"network\" takes one of 'threshold', 'density' and 'k', which says which pairs are kept",
  "gpuCorCompare & pairs & no edges" = "'pairs' needs a criterion; threshold = 0 keeps all of these pairs",
  "gpuCorWindows & pairs & no edges" = "'pairs' needs 'threshold', 'density' or 'k'",
  # ---- p values by permutation
  'adjust = "maxT" & fdr & gpuAssociation' = "adjust = \"maxT\" is for 'p.value', not for 'fdr'; leave one out",
  'adjust|covariance|df = "bartlett" & several levels' =
    "{this} is for traits of numbers, and 'traits' has a factor of several levels; leave one out",
  'adjust = "maxT" & edges & no p.value' =
    "adjust = \"maxT\" is for 'p.value', not for '{criterion}'; leave it out",
  'adjust = "fdr" & edges & no fdr' = "adjust = \"fdr\" is for 'fdr', not for '{criterion}'; leave it out",
  "adjust & gpuCorNetwork & min_obs" = "'min_obs' has no meaning with adjust = \"{adjust}\"; leave it out",
  "adjust & several subjects" =
    "adjust = \"{adjust}\" is for one data set; gpuCorCompare() permutes subjects",
  "adjust & partial" =
    "adjust = \"{adjust}\" with partial = TRUE: permuted columns would have other partial correlations; leave one out",
  'adjust & graded weights|weights_are = "frequency"' = paste0(
    "adjust = \"{adjust}\" permutes observations, which do not stand for one another with 'weights' other than 0 ",
    "and 1; leave these or 'adjust' out"),
  # If covariates shift ranks a lot, residuals of ranks are small in the same rows of all columns.
  "adjust & measure of ranks & regression on covariates" = paste0(
    "adjust = \"{adjust}\" with ", listed(names(REGRESSION), "or"), " exchanges residuals, and those of ranks do not ",
    "stand for one another; use method = \"pearson\" or \"bicor\""),
  "adjust & several runs" =
    "adjust = \"{adjust}\" exchanges rows or frequencies across the boundaries of 'runs'; leave one of them out",
  'surrogate = "permutation" & bandpass' = paste0(
    "adjust = \"{adjust}\" permutes observations, which do not stand for one another in series, as 'bandpass' has ",
    "them; use surrogate = \"phase\""),
  'surrogate = "permutation" & adjust & measure of spectra' = paste0(
    "adjust = \"{adjust}\" permutes observations, and method = \"{method}\" is of series, whose observations do not ",
    "stand for one another; use surrogate = \"phase\""),
  'surrogate = "permutation" & df & centred measure' = paste0(
    "adjust = \"{adjust}\" permutes observations, which do not stand for one another in series, as 'df' has them; ",
    "use surrogate = \"phase\""),
  # ---- groups of columns
  "groups & y & no gpuCorCompare" = "'groups' are of the columns of one data set; leave 'y' out",
  "groups & covariates|bandpass|runs" =
    "'groups' takes no {this}; adjust the columns before, by gpuClean(x, {this} = ), and give the result as 'x'",
  "groups & weights|covariance|df|partial|lag|lioness|resample|adjust|seeds|min_obs" =
    "'groups' makes distances of pairs of observations, for which {this} has no form; leave one of them out",
  "groups & shards|plan" = "'groups' is not for plans or 'shards'; call the function on one machine, without 'shards'",
  "groups & permuted rows" = paste0(
    "'n_perm' exchanges rows of 'x' and 'y', and 'groups' makes distances of pairs of rows; leave one out, or give ",
    "lists of subjects, whose labels are permuted"),
  "gpuISC & n_perm & no group & covariates|bandpass|runs" = paste0(
    "'n_perm' moves residuals that are not regressed again on {this}, and its p values would be too small; leave it ",
    "out, as 'p.value' and 'fdr' hold, or leave the other out"),
  "pseudobulk & y" = "'pseudobulk' sums the cells of one data set; leave 'y' out",
  "pseudobulk & shards|plan" =
    "'pseudobulk' is not for plans or 'shards'; its samples are few, so leave 'shards' out, and compute on one machine",
  # ---- tests
  'test|output = "list" & list of subjects' = paste0(
    "'test' and output = \"list\" are for one data set, and 'x' is a list of subjects; gpuCorNetwork() with combine = ",
    "\"fisher\" and p.value = 1 tests all of their pairs"),
  'alternative = "less" & one-sided measure|measure of spectra' = paste0(
    "alternative = \"less\" has no meaning for method = \"{method}\", whose negative coefficients are no evidence of ",
    "dependence; leave it out"),
  "exact & tests of adjusted data" = paste0(
    "exact = TRUE: with 'weights' other than 0 and 1, ", listed(c(names(REGRESSION), "covariance", "df"), "or"),
    " there is no exact distribution; use exact = FALSE"),
  "conf.level & measure without intervals" = paste0(
    "'conf.level' is for method = ", paste0('"', INTERVAL_METHODS, '"', collapse = ", "), ", not for \"{method}\"; ",
    "leave it out"),
  "conf.level & shrunken coefficients" = paste0(
    "'conf.level': shrunken partial correlations have no confidence intervals; use shrinkage = 0, or leave it out"),
  'gpuAssociation & p.value|fdr & output = "matrix"' =
    "{this} is for output = \"edges\"; leave it out, or the output",
  'gpuAssociation & edges & df = "bartlett"' = paste0(
    "df = \"bartlett\" has degrees of freedom for each pair; leave out '{criterion}', and choose among all pairs"),
  # ---- sums of columns
  'maps = "eigenvector" & y' = "maps = \"eigenvector\" is of the columns of 'x' with one another; leave out 'y'",
  'maps = "eigenvector" & several subjects & no edges' =
    "maps = \"eigenvector\" is of one subject; of several give a threshold or a density, and it is the network's",
  'maps = "eigenvector" & pairs & no edges' =
    "maps = \"eigenvector\" is of all pairs; with 'pairs' give a threshold or a density, and it is the network's",
  'maps = "eigenvector" & partial & no edges' = paste0(
    "maps = \"eigenvector\" of all partial correlations is not available; with a threshold or a density it is that of ",
    "the network"),
  'maps = "eigenvector" & no edges & measure without products' = paste0(
    "the eigenvector of all coefficients by method = \"{method}\" would take all of them at every step; with a ",
    "threshold or a density it is that of the network"),
  # ---- windows
  'threshold|density|k & output = "dist" or k & output = "connectivity"' =
    "{this} has no meaning with output = \"{output}\"; leave it out",
  'output = "network" & gpuCorWindows & no edges' =
    "which pairs of a window are edges? give one of 'threshold', 'density', 'k'",
  'output = "connectivity" & gpuCorWindows & no edges' =
    "which pairs of a window are edges? give one of 'threshold', 'density'",
  'sign & output = "dist"|output = "moments"' = "'sign' has no meaning with output = \"{output}\"",
  "taper & measure without weights" =
    "method = \"{method}\" takes no 'taper', which weighs observations: {refusal}",
  "shape & no taper" = "'shape' has no meaning with taper = \"none\"; leave it out",
  'gpuCorWindows & pearsonFallback = "all"' =
    "pearsonFallback = \"all\" would be decided in each window; use \"individual\" or \"none\"",
  'output = "moments" & list of subjects' =
    "output = \"moments\" is for one subject; the rows of output = \"dist\" have the same",
  "gpuCorWindows & weights|weights_are|df & list of subjects" =
    "{this} is for the windows of one subject; leave it out",
  "regression before parts & measure of ranks" = paste0(
    "method = \"{method}\" makes ranks in each {part}, and ", listed(names(REGRESSION), "and"), " are regressed over ",
    "all observations, before; give the residuals as 'x'"),
  "regression before parts & measure of spectra" =
    "method = \"{method}\" needs whole series, of which a {part} is a part; gpuCor() takes the rows of one",
  "regression before parts & pairs that miss some" = paste0(
    listed(names(REGRESSION), "and"), " are regressed over all observations, and of pairs that miss some there are ",
    "no {part}s; use \"complete.obs\", or fill them in"),
  # ---- groups
  'several groups & sign = "negative"' = "sign = \"negative\" has no meaning for several groups; leave it out",
  'several effects & sign = "positive"|sign = "negative"' =
    "F of several contrasts has no sign; leave 'sign' out, or give one contrast",
  "gpuCorCompare & design & y" =
    "'design' describes the subjects of one list; give all of them as 'x', and leave 'y' out",
  'group & y|design|blocks of subjects|effects = "random"' =
    "'group' tells the rows of one matrix apart, which are the sample; leave {this} out",
  "contrast & no design & no gpuISC" = "'contrast' is a contrast of 'design'; give both, or leave it out",
  "paired & group of one subject" = "paired = TRUE needs at least two pairs of subjects",
  "group of one subject & no paired" = "one group needs at least two subjects, whose z vary",
  'gpuCorCompare & method = "mi"' = "method = \"mi\" has no Fisher's z to compare; use method = \"spearman\"",
  "one z of all rows & measure without distribution" = paste0(
    "method = \"{method}\" has no Fisher's z to compare but of lists of subjects by effects = \"random\"; use ",
    "method = \"spearman\""),
  "one group & no design & measure of spectra" = paste0(
    "method = \"{method}\" is never negative, so that its mean over one list of subjects is above 0 in any case; give ",
    "a second list as 'y', or a 'design'"),
  "paired & no y" = "paired = TRUE needs two lists of subjects, 'x' and 'y'",
  'variance = "unequal" & paired|design or variance = "unequal" & no y' =
    "variance = \"unequal\" is for two independent groups of subjects, 'x' and 'y'; leave it out",
  'variance = "unequal" & fixed effects' =
    "variance = \"unequal\" is for lists of subjects and effects = \"random\"; leave it out",
  'effects = "fixed" & paired|design' =
    "effects = \"fixed\" compares independent groups; leave it out for pairs and 'design'",
  'n_perm & na.rm & variance = "unequal"' = paste0(
    "'n_perm' with na.rm = TRUE compares pairs of different numbers of subjects, for which variance = \"unequal\" has ",
    "no form; leave one of them out"),
  "blocks of subjects & no n_perm" = "'blocks' say what 'n_perm' may exchange; give both, or leave them out",
  "whole & no blocks" = "'whole' says how 'blocks' are exchanged; give both, or leave it out",
  "permuted rows & blocks" =
    "'blocks' are of subjects, and 'n_perm' exchanges rows of two matrices; leave 'blocks' out",
  "classes & no y & no group or classes & several groups" = "'classes' are of two groups, 'x' and 'y'; leave it out",
  "classes & fixed effects of subjects" =
    "'classes' need two matrices, or effects = \"random\" for lists; leave it out",
  'gpuCorCompare & sign = "each" & no components' =
    "sign = \"each\" is for 'components', whose pairs then have one sign; give another sign",
  'components = "tfce" & threshold|density|k|p.value|fdr|pairs' =
    "components = \"tfce\" tests all pairs, without a threshold; leave {this} out",
  'enhance & no components = "tfce"' = "'enhance' has the powers of components = \"tfce\"; give both, or leave it out",
  'components = "size"|components = "sum" & no threshold or components & density|k|p.value|fdr' =
    "'components' needs 'threshold', the min size of t of their pairs",
  "components & no n_perm" = "'components' needs 'n_perm', the number of permutations that their p values are from",
  "components & fixed effects" =
    "'components' are of t; give lists of subjects, and leave effects = \"fixed\" out",
  "permuted rows & graded weights" = paste0(
    "'n_perm' exchanges rows of 'x' and 'y', which do not stand for one another with 'weights' other than 0 and 1; ",
    "leave one of these out, or give lists of subjects, whose labels are permuted"),
  "permuted rows & bandpass|runs|several runs" = paste0(
    "'n_perm' exchanges rows of 'x' and 'y', which do not stand for one another with {this}, as rows of series ",
    "follow one another; leave one of these out, or give lists of subjects, whose labels are permuted"),
  "permuted rows & covariance" =
    "'n_perm' exchanges rows of 'x' and 'y', which are not independent with 'covariance'; leave one of these out",
  "seeds & edges|components|pairs" =
    "'seeds' are compared with all columns, and all tests are returned; leave {this} out",
  "seeds & partial" = "partial = TRUE is given all columns, which 'seeds' leave out; leave one out",
  "partial & fixed effects" =
    "partial = TRUE is each subject's own; compare lists of subjects, and leave effects = \"fixed\" out",
  # ---- coefficients that one has
  "given coefficients & lag|lioness|resample|weights|runs|adjust" =
    "{this} is of observations, and method = \"given\" has none; leave it out, or give the data and another method",
  "given coefficients & fixed effects" = paste0(
    "effects = \"fixed\" needs the numbers of observations, which method = \"given\" does not have; give lists of ",
    "subjects, and leave it out"),
  "given coefficients & y & no gpuCorCompare" =
    "method = \"given\" has the coefficients of the columns of 'x'; leave 'y' out",
  "given coefficients & call of observations" = paste0(
    "method = \"given\" is for gpuCor(), gpuCorNetwork(), gpuConnectivity(), gpuTOM(), pickPower() and ",
    "gpuCorCompare(), which need no observations; give the data, and another method"),
  # ---- several subjects
  "combine|subjects|subject_weights|probs|above|na.rm|effects & one data set" =
    "{this} says how subjects are combined, and 'x' is not a list of their matrices; leave it out",
  "combine|calibration & overlaps & no list of subjects" =
    "{this} is of several data sets, and 'x' is one; leave it out",
  "overlaps & list of subjects & no combine" =
    "'x' is a list of data sets; say how to combine: \"min\", \"mean\" or \"quantile\"",
  'combine = "t"|combine = "sd" & no gpuCor & no one subject' =
    "{this} gives no coefficients; only gpuCor() has it",
  "reliability & subjects without sessions" =
    "an intraclass correlation needs a list of subjects, each a list of its sessions' matrices",
  'probs & list of subjects & no combine = "quantile"' =
    "'probs' has a meaning with combine = \"quantile\" only; leave it out",
  'above & list of subjects & no combine = "fraction" or combine = "fraction" & list of subjects & no above' =
    "combine = \"fraction\" is the fraction of the subjects whose coefficient is above 'above'; give both",
  'combine = "fraction"|combine = "t"|combine = "sd" & one subject' =
    "{this} has no meaning for one subject; leave it out for that subject's coefficients",
  'na.rm & combine = "icc2"|combine = "icc3"' =
    "combine = \"{combine}\" needs the coefficients of all subjects; leave na.rm = TRUE out",
  "effects & edges & no tests & no gpuCorCompare" = "'effects' changes p values, and this call has none; leave it out",
  'subject_weights & tests & no effects = "fixed"' = paste0(
    "'subject_weights' have no meaning with effects = \"random\", where each subject counts once; leave them out, or ",
    "give effects = \"fixed\""),
  'several subjects & subject_weights & combine & no combine = "mean" & no combine = "fisher"' =
    "'subject_weights' do not matter with combine = \"{combine}\"; leave them out",
  "p values of subjects & one-sided measure" = paste0(
    "p values of several subjects are not known for method = \"{method}\", whose coefficients of independent columns ",
    "are skewed; use 'threshold' or 'density'"),
  "p values of subjects & another combination" =
    "p values of subjects' coefficients follow from combine = \"fisher\" only; combine is \"{combine}\"",
  "p values by fixed effects & single subjects & measure without variance of z" = paste0(
    "p values by effects = \"fixed\" are known for methods ", listed(names(Z_VARIANCES), "and", "\""), ", not for ",
    "\"{method}\"; with one subject in a group use \"spearman\""),
  "p values by fixed effects & measure without variance of z" = paste0(
    "p values by effects = \"fixed\" are known for methods ", listed(names(Z_VARIANCES), "and", "\""), ", not for ",
    "\"{method}\"; effects = \"random\" tests the subjects' coefficients themselves"),
  "p values by fixed effects & na.rm" =
    "p values by effects = \"fixed\" need all subjects for each pair; leave out na.rm = TRUE",
  "p values by fixed effects & pairwise-complete observations" = paste0(
    "p values by effects = \"fixed\" need the same observations for all pairs of a subject; with missing values use = ",
    "\"complete.obs\" leaves these"),
  "several subjects & tests & min_obs" = "'min_obs' is for one subject's data; leave it out",
  'list of subjects & output = "network" & gpuTOM' =
    "output = \"network\" is of one data set; with 'combine' take \"dist\" or \"matrix\"",
  'gpuISC & target & n_perm|output = "isfc"' = "'target' is not for {this}; leave one out",
  "gpuISC & target & covariates|bandpass|runs" = paste0(
    "'target' is not adjusted, so that {this} would be of one side only; adjust all by gpuClean(), and leave it out"),
  "gpuISC & group & no n_perm" = "'group' is tested by permuted labels; give their number, such as n_perm = 1000",
  'gpuISC & group & target|output = "isfc"|surrogate|na.rm' = "'group' is not for {this}; leave one out",
  "gpuISC & contrast & no group" = "'contrast' is of two groups; give 'group', or leave it out",
  "gpuISC & surrogate & no n_perm" = "'surrogate' says how 'n_perm' surrogates are drawn; give both, or leave it out",
  # ---- p values of pairs
  "p values & measure without distribution" = paste0(
    "p values of method = \"{method}\" have no known distribution; adjust = \"maxT\" finds them by permutation, in ",
    "gpuCorTest(), gpuAssociation(), and gpuCorNetwork() with 'p.value', and adjust = \"fdr\" rates for 'fdr'"),
  "p values & given coefficients & no df" =
    "p values of given coefficients need 'df', n - 2 for those of n observations",
  "p values & uncentred measure & no df" = paste0(
    "p values of method = \"{method}\" hold for columns whose expected value is zero; if it is, say so by 'df' (n - 1 ",
    "for n observations), or use method = \"pearson\""),
  # ---- criteria, pair masks
  "several criteria" = "give only one of {criteria}",
  "y & pairs of one data set" = "'pairs' says nothing of the columns of 'y': give it 'y', too",
  "pairs of 'x' and 'y' & no y" = "'pairs' is of columns of 'x' with those of 'y', and there is no 'y'",
  # ---- the adjustment
  "weights & graded weights & measure without weights" =
    "method = \"{method}\" takes no 'weights' other than 0 and 1: {refusal}",
  "options & options of another measure" = "'options' has \"{option}\"; method = \"{method}\" takes {known}",
  "partial & measure without partial" =
    "method = \"{method}\" has no partial correlation given all other variables; use \"pearson\" or \"spearman\"",
  "measure of groups & no groups" = "method = \"rv\" is of groups of columns; give 'groups', a label for each column",
  "groups & measure without groups" =
    "'groups' is for method = \"distance\" and \"rv\", not for \"{method}\"; leave it out",
  "measure of spectra & observations left out" =
    "method = \"{method}\" takes segments of series without gaps, and {gaps} left out; fill them in",
  "surrogate & observations left out" = paste0(
    "'surrogate' needs series without gaps, and {gaps} do not count; df = \"bartlett\" knows of gaps, without ",
    "'adjust'"),
  "weights_are & no weights" = "'weights_are' says what 'weights' are, and there are none; leave it out",
  "protect & no covariates" = "'protect' is what 'covariates' must not take, and there are none; leave it out",
  'protect & adjust|n_perm|df = "bartlett"|bandpass|runs|shards|plan' =
    "'protect' leaves effects in the columns, for which {this} has no form; leave one of them out",
  "protect|covariance & pairs that miss some" = paste0(
    "{this} needs the same observations for all pairs, and values are missing; use = \"complete.obs\" leaves ",
    "these, or fill them in"),
  'covariance & lag|lioness|bandpass|runs|protect|partial|adjust|df = "bartlett"' =
    "'covariance' turns the observations into independent ones, and {this} needs them as they are; leave one out",
  'covariance & graded weights|weights_are = "frequency"' =
    "'covariance' has the variances of the observations, and 'weights' must be 0 or 1 beside it; leave one out",
  "covariance & measure without whitening" = paste0(
    "method = \"{method}\" takes no 'covariance', as its coefficient is not the cosine of the angle between ",
    "residuals; use \"pearson\" or \"spearman\""),
  "data & no covariates" = "'data' needs a formula in 'covariates'; covariates = ~ age takes column age of it",
  "tr & no bandpass" = paste0(
    "'tr' needs 'bandpass', as 'rate' does: two frequencies in Hz such as c(0.01, 0.1); leave it out, or give both"),
  "bandpass & unknown times" = paste0(
    "'bandpass' needs 'tr', the seconds from one observation to the next, or 'rate' = 1 / tr; if observations were ",
    "left out, keep them and give them weights of 0, as a filter needs all of them"),
  "any regression & measure without regression" =
    paste0("method = \"{method}\" takes no ", listed(names(REGRESSION), "or"), ": {refusal}"),
  "runs alone & measure without intercepts" = paste0(
    "method = \"{method}\" has no intercepts, so 'runs' has no effect without 'covariates' or 'bandpass'; give one of ",
    "them, or leave 'runs' out"),
  'df = "bartlett" & several runs' = paste0(
    "df = \"bartlett\" has no meaning with 'runs': its autocorrelations would be across their boundaries; give a ",
    "number, or leave one out"),
  "df & call without p values" = paste0(
    "'df' sets the degrees of freedom of p values, which this call does not compute; leave it out, or use ",
    "gpuCorTest() or gpuCorNetwork() with 'p.value' or 'fdr'"),
  "df & measure without t" =
    "'df' has no meaning for method = \"{method}\", whose p values follow from a {distribution} distribution",
  'weights_are = "frequency" & measure without t' =
    "weights_are = \"frequency\" has no meaning for method = \"{method}\", whose 'weights' are 0 and 1",
  "df & random effects" = paste0(
    "'df' is of a subject's observations, and with effects = \"random\" subjects are the sample; leave it out"),
  'df = "bartlett" & several subjects' =
    "df = \"bartlett\" has degrees of freedom for each pair; several subjects take a number for each of them",
  "partial & y & no gpuCorCompare" = paste0(
    "partial = TRUE: every column is adjusted for all others, and columns of 'y' would not be among them; ",
    "use cbind(x, y)"),
  'partial & df = "bartlett"' = "df = \"bartlett\" has no meaning with partial = TRUE; give a number",
  'weights_are = "frequency" & df = "bartlett"' = paste0(
    "df = \"bartlett\" needs a place in time for each observation, which copies (weights_are = \"frequency\") do not ",
    "have; give a number")
)

# The same in long form, a list of vectors. `case`: one of the alternatives of a row, whose number is `row`. For each
# feature its case and its place there; `wanted`: FALSE after "no"; `several`: TRUE for one of several alternatives.
APART_CASES <- strsplit(names(APART), " or ", fixed = TRUE)
APART_FEATURES <- local({
  parts <- strsplit(unlist(APART_CASES), " & ", fixed = TRUE)
  part <- unlist(parts)
  each <- strsplit(sub("^no ", "", part), "|", fixed = TRUE)
  place <- rep(seq_along(part), lengths(each))
  list(case = rep(seq_along(parts), lengths(parts))[place], place = place, wanted = !startsWith(part, "no ")[place],
       several = (lengths(each) > 1L)[place], feature = unlist(each),
       row = rep(seq_along(APART_CASES), lengths(APART_CASES)))
})

# Number of features that each case wants.
APART_WANTED <- with(APART_FEATURES, tabulate(case[wanted & !duplicated(place)], length(row)))

# Facts have names of several words. The features of rows with facts: other calls need not find their facts.
NEEDS_FACTS <- with(APART_FEATURES, {
  is_fact <- grepl(" ", feature) & !grepl("\"", feature)
  unique(feature[case %in% case[is_fact] & wanted & !is_fact])
})

# Stops if features of a call, and facts, do not go together. `facts` are evaluated only if they matter.
check_together <- function(found, facts = character(), words = list()) {
  has <- found$features
  if (!missing(facts)) {
    if (!any(has %in% NEEDS_FACTS)) return(invisible())
    has <- c(has, facts)
  }
  has <- which(APART_FEATURES$feature %in% has)
  here <- has[APART_FEATURES$wanted[has] & !duplicated(APART_FEATURES$place[has])]
  whole <- which(tabulate(APART_FEATURES$case[here], length(APART_WANTED)) == APART_WANTED)
  case <- setdiff(whole, APART_FEATURES$case[has[!APART_FEATURES$wanted[has]]])[1L]
  if (is.na(case)) return(invisible())
  own <- here[APART_FEATURES$case[here] == case]
  this <- APART_FEATURES$feature[own[order(!APART_FEATURES$several[own])][1L]]
  sentence <- APART[[APART_FEATURES$row[case]]]
  words <- c(list(this = if (grepl("\"", this)) this else paste0("'", this, "'")), words, found$words)
  for (name in names(words)) sentence <- gsub(paste0("{", name, "}"), words[[name]], sentence, fixed = TRUE)
  fail(sentence)
}

# Stops if these features and facts do not go together.
check_facts <- function(facts, words = list()) check_together(list(features = facts), words = words)

# Returns the words of a method.
words_of <- function(method) list(method = method, refusal = measure_of(method)$refusal)

# Returns the table for the help: all rows but those of single measures, which ?"gpucor-measures" tells apart.
apart_words <- function() {
  shown <- APART[!grepl("measure", names(APART), fixed = TRUE)]
  paste0("* `", gsub(" or ", "`, or `", names(shown), fixed = TRUE), "`: ", gsub("[{}]", "*", shown), ".",
         collapse = "\n")
}
